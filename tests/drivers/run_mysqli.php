<?php
// mysqli as the tests ask it to run: one request a line, one answer a line (tests/src/drivers/program.rs).
declare(strict_types=1);

mysqli_report(MYSQLI_REPORT_OFF);
const LONG = 4096; // longer values are reported as their length and SHA-256
const CANNOT_BE_PREPARED = 1295;

final class Session
{
    /** @var array<string, mysqli_stmt> */
    private array $handles = [];

    private function __construct(private mysqli $db, private bool $multi)
    {
    }

    public static function open(array $request): Session|array
    {
        $db = mysqli_init();
        $db->options(MYSQLI_OPT_LOCAL_INFILE, $request['local_infile'] ? 1 : 0);
        $flags = $request['found_rows'] ? MYSQLI_CLIENT_FOUND_ROWS : 0;
        $schema = $request['schema'];
        if (!@$db->real_connect('127.0.0.1', $request['user'], $request['password'], $schema, $request['port'], null, $flags)) {
            return failure($db->connect_errno, '', $db->connect_error ?? '');
        }
        if (!$db->set_charset($request['charset'])) {
            return failure($db->errno, $db->sqlstate, $db->error);
        }
        return new Session($db, $request['multi']);
    }

    public function run(array $request): array
    {
        $sql = $request['sql'] ?? hex2bin($request['raw']);
        $params = $request['params'];
        if ($request['prepare'] || $params !== null) {
            $results = $this->prepared($sql, $params ?? [], $request['handle']);
            // It still has to happen.
            if ($params === null && ($results[0]['error']['code'] ?? 0) === CANNOT_BE_PREPARED) {
                $results = [...$results, ...$this->text($sql)];
            }
        } else {
            $results = $this->text($sql);
        }
        $last = end($results);
        $count = isset($last['error']) ? 0 : $last['warnings'];
        return ['results' => $results, 'warnings' => $count && stripos($sql, 'SHOW ') !== 0 ? $this->warnings() : []];
    }

    private function text(string $sql): array
    {
        $results = [];
        $ok = $this->multi ? $this->db->multi_query($sql) : $this->db->real_query($sql);
        while ($ok) {
            $set = $this->db->field_count ? $this->db->store_result() : null;
            if ($set === false) {
                break;
            }
            $results[] = $set ? rows($set, $this->db->warning_count) : done($this->db, $this->db);
            if (!$this->db->more_results()) {
                return $results;
            }
            $ok = $this->db->next_result();
        }
        return [...$results, failure($this->db->errno, $this->db->sqlstate, $this->db->error)];
    }

    private function prepared(string $sql, array $params, ?string $handle): array
    {
        $results = [];
        $statement = $handle === null ? null : $this->handles[$handle] ?? null;
        if (!$statement) {
            $statement = $this->db->prepare($sql);
            if (!$statement) {
                return [failure($this->db->errno, $this->db->sqlstate, $this->db->error)];
            }
            // What preparing told, as a result without rows; its warnings are the number of parameters.
            $told = $statement->result_metadata();
            $results[] = ['columns' => $told ? columns($told) : [], 'rows' => [], 'warnings' => $statement->param_count];
            if ($handle !== null) {
                $this->handles[$handle] = $statement;
            }
        }
        $results = [...$results, ...$this->execute($statement, $params)];
        if ($handle === null) {
            $statement->close();
        }
        return $results;
    }

    private function execute(mysqli_stmt $statement, array $params): array
    {
        if ($params) {
            $types = implode('', array_map('kind', $params));
            $values = array_map('parameter', $params);
            $bound = array_map(fn ($kind, $value) => $kind === 'b' ? null : $value, str_split($types), $values);
            try {
                $statement->bind_param($types, ...$bound);
            } catch (ArgumentCountError | ValueError $error) {
                return [failure(0, '', $error->getMessage())];
            }
            foreach ($values as $at => $value) {
                if ($types[$at] === 'b') {
                    array_map(fn ($piece) => $statement->send_long_data($at, $piece), str_split($value, 30000));
                }
            }
        }
        $results = [];
        $ok = $statement->execute();
        while ($ok) {
            $set = $statement->field_count ? $statement->get_result() : null;
            if ($set === false) {
                break;
            }
            $results[] = $set ? rows($set, $this->db->warning_count) : done($statement, $this->db);
            if (!$statement->more_results()) {
                return $results;
            }
            $ok = $statement->next_result();
        }
        return [...$results, failure($statement->errno, $statement->sqlstate, $statement->error)];
    }

    private function warnings(): array
    {
        $set = $this->db->query('SHOW WARNINGS');
        return array_map(fn ($row) => [$row[0], (int) $row[1], $row[2]], $set ? $set->fetch_all() : []);
    }

    public function command(array $request): array
    {
        $done = match ($request['do']) {
            'ping' => $this->db->query('DO 0') !== false,
            'use' => $this->db->select_db($request['schema']),
            'change_user' => $this->db->change_user($request['user'], $request['password'], $request['schema']),
            'forget' => $this->forget($request['handle']),
            'close' => $this->db->close(),
        };
        return ['results' => $done ? [] : [failure($this->db->errno, $this->db->sqlstate, $this->db->error)]];
    }

    private function forget(string $handle): bool
    {
        if (isset($this->handles[$handle])) {
            $this->handles[$handle]->close();
            unset($this->handles[$handle]);
        }
        return true;
    }
}

function rows(mysqli_result $set, int $warnings): array
{
    $rows = array_map(fn ($row) => array_map('cell', $row), $set->fetch_all(MYSQLI_NUM));
    return ['columns' => columns($set), 'rows' => $rows, 'warnings' => $warnings];
}

function columns(mysqli_result $set): array
{
    return array_map(fn ($field) => [
        'name' => text($field->name),
        'org_name' => text($field->orgname),
        'table' => text($field->table),
        'org_table' => text($field->orgtable),
        'schema' => text($field->db),
        'type' => $field->type,
        'length' => $field->length,
        'flags' => $field->flags,
        'decimals' => $field->decimals,
        'charset' => $field->charsetnr,
    ], $set->fetch_fields());
}

function done(mysqli|mysqli_stmt $from, mysqli $db): array
{
    return [
        'affected' => max(0, (int) $from->affected_rows),
        'insert_id' => (int) $from->insert_id,
        'info' => text($db->info ?? ''),
        'warnings' => $db->warning_count,
    ];
}

function failure(int $code, string $state, string $message): array
{
    return ['error' => ['code' => $code, 'state' => $state, 'message' => text($message)]];
}

function cell(mixed $value): ?array
{
    return match (true) {
        $value === null => null,
        is_int($value) => ['int' => (string) $value],
        is_float($value) => ['double' => json_encode($value)],
        strlen($value) > LONG => ['kind' => 'string', 'text' => strlen($value) . ' bytes, sha256 ' . hash('sha256', $value)],
        default => ['bytes' => bin2hex($value)],
    };
}

/** Names and messages may come in any character set. */
function text(string $raw): string
{
    return is_utf8($raw) ? $raw : 'bytes ' . bin2hex($raw);
}

function is_utf8(string $raw): bool
{
    return preg_match('//u', $raw) === 1;
}

function kind(mixed $param): string
{
    return match (true) {
        isset($param['int']), is_bool($param) => 'i',
        is_float($param) => 'd',
        isset($param['stream']) => 'b',
        default => 's',
    };
}

function parameter(mixed $param): mixed
{
    if (!is_array($param)) {
        return $param;
    }
    $unit = $param['repeat'] ?? $param['stream'] ?? null;
    return match (true) {
        $unit !== null => str_repeat($unit, $param['times']),
        isset($param['int']) => is_int($param['int'] + 0) ? (int) $param['int'] : $param['int'],
        isset($param['bytes']) => hex2bin($param['bytes']),
        default => $param['decimal'] ?? $param['datetime'] ?? $param['date'] ?? $param['time'],
    };
}

$sessions = [];
while (($line = fgets(STDIN)) !== false) {
    $request = json_decode($line, true, 512, JSON_THROW_ON_ERROR);
    $number = $request['session'];
    if ($request['do'] === 'open') {
        $opened = Session::open($request);
        $answer = ['results' => is_array($opened) ? [$opened] : []];
        $sessions[$number] = $opened;
    } elseif ($request['do'] === 'run') {
        $answer = $sessions[$number]->run($request);
    } else {
        $answer = $sessions[$number]->command($request);
    }
    echo json_encode($answer, JSON_THROW_ON_ERROR | JSON_PRESERVE_ZERO_FRACTION), "\n";
}
