// mysql2 as the tests ask it to run: one request a line, one answer a line (tests/src/drivers/program.rs).
'use strict';

const crypto = require('crypto');
const fs = require('fs');
const readline = require('readline');
const mysql = require('mysql2');

const LONG = 4096; // longer values are reported as their length and SHA-256
const CANNOT_BE_PREPARED = 1295;
const sessions = new Map();

function open(request) {
  const files = new Set(request.files);
  const connection = mysql.createConnection({
    host: '127.0.0.1',
    port: request.port,
    user: request.user,
    password: request.password,
    database: request.schema ?? undefined,
    charset: request.charset.toUpperCase() === 'UTF8MB4' ? 'UTF8MB4_UNICODE_CI' : request.charset,
    flags: [request.found_rows ? 'FOUND_ROWS' : '-FOUND_ROWS'],
    multipleStatements: request.multi,
    rowsAsArray: true,
    // What JavaScript's numbers and dates cannot hold comes as text.
    supportBigNumbers: true,
    bigNumberStrings: true,
    dateStrings: true,
    infileStreamFactory: request.local_infile
      ? (path) => (files.has(path) ? fs.createReadStream(path) : null)
      : undefined,
  });
  connection.on('error', () => {}); // told to whoever runs the next statement
  sessions.set(request.session, { connection, binary: request.binary, handles: new Map() });
  return new Promise((resolve) => connection.connect((error) => resolve({ results: error ? [failure(error)] : [] })));
}

async function run(request) {
  const session = sessions.get(request.session);
  const sql = request.sql ?? Buffer.from(request.raw, 'hex').toString('latin1');
  const params = request.params?.map(parameter);
  let results;
  if (request.prepare) {
    results = await prepared(session, sql, params ?? [], request.handle);
    // It still has to happen.
    if (!params && results[0].error?.code === CANNOT_BE_PREPARED) results.push(...(await text(session, sql)));
  } else {
    results = await text(session, sql, params);
  }
  const last = results[results.length - 1];
  const warnings = last?.warnings && !/^SHOW /i.test(sql) ? await shown(session) : [];
  return { results, warnings };
}

function text(session, sql, params) {
  return collect(session.connection.query(sql, params));
}

async function prepared({ connection, handles }, sql, params, handle) {
  // The driver keeps what it has prepared by its text.
  const results = [];
  const made = await new Promise((resolve) =>
    connection.prepare(sql, (error, statement) => resolve(error ?? { statement, known: handles.get(handle) === sql })));
  if (!made.statement) return [failure(made)];
  if (handle) handles.set(handle, sql);
  if (!made.known) results.push(described(made.statement));
  results.push(...(await collect(made.statement.execute(params))));
  if (![...handles.values()].includes(sql)) connection.unprepare(sql);
  return results;
}

// What preparing told, as a result without rows; its warnings are the number of parameters.
function described(statement) {
  const columns = [...statement.parameters, ...statement.columns].map(column);
  return { columns, rows: [], warnings: statement.parameters.length };
}

function collect(command) {
  return new Promise((resolve) => {
    const results = [];
    let rows;
    command.on('fields', (fields) => {
      rows = fields && [];
      if (rows) results.push({ columns: fields.map(column), rows });
    });
    command.on('result', (result) => {
      if (rows) rows.push(result.map(cell));
      else if (!result) results.push({ error: { message: 'a row that the driver cannot read' } });
      else results.push(done(result));
    });
    command.on('error', (error) => {
      results.push(failure(error));
      resolve(results);
    });
    command.on('end', () => resolve(results));
  });
}

function column(field) {
  const more = field.extendedTypeName || field.extendedFormat;
  return {
    name: field.name,
    org_name: field.orgName,
    table: field.table,
    org_table: field.orgTable + (more ? ` as ${field.extendedTypeName ?? ''} ${field.extendedFormat ?? ''}` : ''),
    schema: field.schema,
    type: field.columnType,
    length: field.columnLength,
    flags: field.flags,
    decimals: field.decimals,
    charset: field.characterSet,
  };
}

function done(header) {
  return {
    affected: Number(header.affectedRows),
    insert_id: Number(header.insertId),
    info: header.info ?? '',
    warnings: header.warningStatus,
    status: header.serverStatus,
  };
}

function failure(error) {
  const code = error.errno > 0 && error.errno < 65536 ? error.errno : 0;
  return { error: { code, state: error.sqlState ?? '', message: `${error.code}: ${error.sqlMessage ?? error.message}` } };
}

function cell(value) {
  if (value === null || value === undefined) return null;
  if (Buffer.isBuffer(value)) return value.length > LONG ? long('Buffer', value) : { bytes: value.toString('hex') };
  if (typeof value === 'number') return Number.isSafeInteger(value) ? { int: String(value) } : { double: String(value) };
  if (typeof value === 'object') return { kind: value.constructor.name, text: JSON.stringify(value) };
  const shown = String(value);
  return shown.length > LONG ? long(typeof value, Buffer.from(shown)) : { kind: typeof value, text: shown };
}

function long(kind, raw) {
  return { kind, text: `${raw.length} bytes, sha256 ${crypto.createHash('sha256').update(raw).digest('hex')}` };
}

function parameter(value) {
  if (value === null || typeof value !== 'object') return value;
  if ('int' in value) return Number.isSafeInteger(Number(value.int)) ? Number(value.int) : value.int;
  if ('bytes' in value) return Buffer.from(value.bytes, 'hex');
  const unit = value.repeat ?? value.stream;
  return unit === undefined ? value.decimal ?? value.datetime ?? value.date ?? value.time : unit.repeat(value.times);
}

async function shown(session) {
  const [result] = await text(session, 'SHOW WARNINGS');
  return (result.rows ?? []).map(([level, code, message]) => [level.text, Number(code.int), message.text]);
}

const commands = {
  open,
  run,
  ping: ({ connection }) => called((then) => connection.ping(then)),
  use: ({ connection }, { schema }) => called((then) => connection.query(`USE ${schema}`, then)),
  reset: ({ connection, handles }) => (handles.clear(), called((then) => connection.reset(then))),
  change_user: ({ connection, handles }, { user, password, schema }) =>
    (handles.clear(), called((then) => connection.changeUser({ user, password, database: schema }, then))),
  forget({ connection, handles }, { handle }) {
    const sql = handles.get(handle);
    handles.delete(handle);
    if (sql) connection.unprepare(sql);
    return { results: [] };
  },
  close: ({ connection }) => called((then) => connection.end(() => then())),
};

function called(command) {
  return new Promise((resolve) => command((error) => resolve({ results: error ? [failure(error)] : [] })));
}

async function main() {
  for await (const line of readline.createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    const request = JSON.parse(line);
    const command = commands[request.do];
    const session = sessions.get(request.session);
    const answer = session && request.do !== 'run' ? await command(session, request) : await command(request);
    process.stdout.write(JSON.stringify(answer) + '\n');
  }
  process.exit(0);
}

main();
