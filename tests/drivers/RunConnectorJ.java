// MariaDB Connector/J as the tests ask it to run: one request a line, one answer a line (tests/src/drivers/program.rs).

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.sql.Types;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Properties;

public class RunConnectorJ {
    /** Longer values are reported as their length and SHA-256. */
    private static final int LONG = 4096;

    private static final Gson GSON = new GsonBuilder().serializeNulls().disableHtmlEscaping().create();

    private static final Map<Integer, RunConnectorJ> SESSIONS = new HashMap<>();

    private final Connection connection;
    private final Map<String, PreparedStatement> handles = new HashMap<>();

    private RunConnectorJ(JsonObject request) throws SQLException {
        Properties properties = new Properties();
        properties.put("user", request.get("user").getAsString());
        properties.put("password", request.get("password").getAsString());
        properties.put("useServerPrepStmts", request.get("binary").getAsString());
        // A statement that is closed is closed on the server too.
        properties.put("cachePrepStmts", "false");
        properties.put("allowMultiQueries", request.get("multi").getAsString());
        properties.put("allowLocalInfile", request.get("local_infile").getAsString());
        properties.put("useAffectedRows", String.valueOf(!request.get("found_rows").getAsBoolean()));
        properties.put("allowPublicKeyRetrieval", "true");
        // An answer that takes longer does not come.
        properties.put("socketTimeout", "60000");
        JsonElement schema = request.get("schema");
        String url = "jdbc:mariadb://127.0.0.1:" + request.get("port") + "/";
        connection = DriverManager.getConnection(schema.isJsonNull() ? url : url + schema.getAsString(), properties);
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonObject request = JsonParser.parseString(line).getAsJsonObject();
            out.println(GSON.toJson(answer(request)));
        }
    }

    private static JsonObject answer(JsonObject request) throws Exception {
        JsonArray results = new JsonArray();
        JsonArray warnings = new JsonArray();
        int number = request.get("session").getAsInt();
        try {
            RunConnectorJ session = SESSIONS.get(number);
            switch (request.get("do").getAsString()) {
                case "open" -> SESSIONS.put(number, new RunConnectorJ(request));
                case "run" -> session.run(request, results, warnings);
                case "ping" -> {
                    if (!session.connection.isValid(60)) {
                        throw new SQLException("the connection is not valid");
                    }
                }
                case "use" -> session.connection.setCatalog(request.get("schema").getAsString());
                case "forget" -> session.forget(request.get("handle").getAsString());
                case "close" -> session.connection.close();
                default -> throw new IllegalArgumentException(request.toString());
            }
        } catch (SQLException error) {
            results.add(failure(error));
        }
        JsonObject answer = new JsonObject();
        answer.add("results", results);
        answer.add("warnings", warnings);
        return answer;
    }

    private void run(JsonObject request, JsonArray results, JsonArray warnings) throws Exception {
        String sql = sql(request);
        JsonElement params = request.get("params");
        String handle = request.get("handle").isJsonNull() ? null : request.get("handle").getAsString();
        if (params.isJsonNull() && !request.get("prepare").getAsBoolean()) {
            try (Statement statement = connection.createStatement()) {
                collect(statement, statement.execute(sql, Statement.RETURN_GENERATED_KEYS), results, warnings);
            }
            return;
        }
        PreparedStatement statement = handle == null ? null : handles.get(handle);
        if (statement == null) {
            statement = connection.prepareStatement(sql, Statement.RETURN_GENERATED_KEYS);
            results.add(described(statement));
            if (handle != null) {
                handles.put(handle, statement);
            }
        }
        try {
            if (params.isJsonArray()) {
                bind(statement, params.getAsJsonArray());
            }
            collect(statement, statement.execute(), results, warnings);
        } finally {
            if (handle == null) {
                statement.close();
            }
        }
    }

    private void forget(String handle) throws SQLException {
        PreparedStatement statement = handles.remove(handle);
        if (statement != null) {
            statement.close();
        }
    }

    private static String sql(JsonObject request) {
        if (request.has("sql")) {
            return request.get("sql").getAsString();
        }
        byte[] raw = HexFormat.of().parseHex(request.get("raw").getAsString());
        return new String(raw, StandardCharsets.ISO_8859_1);
    }

    private static void bind(PreparedStatement statement, JsonArray params) throws SQLException {
        for (int at = 1; at <= params.size(); at++) {
            JsonElement param = params.get(at - 1);
            if (param.isJsonNull()) {
                statement.setNull(at, Types.NULL);
            } else if (param.isJsonObject()) {
                bind(statement, at, param.getAsJsonObject());
            } else if (param.getAsJsonPrimitive().isNumber()) {
                statement.setDouble(at, param.getAsDouble());
            } else {
                statement.setString(at, param.getAsString());
            }
        }
    }

    private static void bind(PreparedStatement statement, int at, JsonObject param) throws SQLException {
        Map.Entry<String, JsonElement> entry = param.entrySet().iterator().next();
        String text = entry.getValue().getAsString();
        switch (entry.getKey()) {
            case "int" -> {
                BigInteger value = new BigInteger(text);
                if (value.bitLength() < 64) {
                    statement.setLong(at, value.longValue());
                } else {
                    statement.setBigDecimal(at, new BigDecimal(value));
                }
            }
            case "repeat" -> statement.setString(at, text.repeat(param.get("times").getAsInt()));
            case "stream" -> {
                byte[] raw = text.repeat(param.get("times").getAsInt()).getBytes(StandardCharsets.UTF_8);
                statement.setBinaryStream(at, new ByteArrayInputStream(raw));
            }
            case "bytes" -> statement.setBytes(at, HexFormat.of().parseHex(text));
            case "decimal" -> statement.setBigDecimal(at, new BigDecimal(text));
            case "datetime" -> statement.setTimestamp(at, java.sql.Timestamp.valueOf(text));
            case "date" -> statement.setDate(at, java.sql.Date.valueOf(text));
            default -> statement.setString(at, text);
        }
    }

    private static void collect(Statement statement, boolean rows, JsonArray results, JsonArray warnings)
            throws Exception {
        SQLException failed = null;
        try {
            for (boolean more = rows; ; more = statement.getMoreResults()) {
                if (more) {
                    results.add(rows(statement.getResultSet()));
                } else if (statement.getLargeUpdateCount() < 0) {
                    break;
                } else {
                    results.add(done(statement));
                }
            }
        } catch (SQLException error) {
            failed = error;
        }
        // Asking for them before the last result is read would end the others.
        if (failed == null) {
            for (SQLWarning warning = statement.getWarnings(); warning != null; warning = warning.getNextWarning()) {
                JsonArray one = new JsonArray();
                one.add(String.valueOf(warning.getSQLState()));
                one.add(warning.getErrorCode());
                one.add(warning.getMessage());
                warnings.add(one);
            }
        } else {
            throw failed;
        }
    }

    private static JsonObject rows(ResultSet set) throws Exception {
        JsonArray rows = new JsonArray();
        int count = set.getMetaData().getColumnCount();
        while (set.next()) {
            JsonArray row = new JsonArray();
            for (int at = 1; at <= count; at++) {
                row.add(cell(set, at));
            }
            rows.add(row);
        }
        JsonObject result = new JsonObject();
        result.add("columns", columns(set.getMetaData()));
        result.add("rows", rows);
        return result;
    }

    /** What preparing told, as a result without rows; its warnings are the number of parameters. */
    private static JsonObject described(PreparedStatement statement) throws SQLException {
        ResultSetMetaData columns = statement.getMetaData();
        JsonObject result = new JsonObject();
        result.add("columns", columns == null ? new JsonArray() : columns(columns));
        result.add("rows", new JsonArray());
        result.addProperty("warnings", statement.getParameterMetaData().getParameterCount());
        return result;
    }

    private static JsonArray columns(ResultSetMetaData told) throws SQLException {
        JsonArray columns = new JsonArray();
        for (int at = 1; at <= told.getColumnCount(); at++) {
            JsonObject column = new JsonObject();
            column.addProperty("name", told.getColumnLabel(at));
            column.addProperty("org_name", told.getColumnName(at));
            column.addProperty("table", told.getTableName(at));
            column.addProperty("schema", told.getCatalogName(at));
            // JDBC numbers types from -16 to 2014 and says the rest in words of its own.
            column.addProperty("type", told.getColumnType(at) & 0xFF);
            column.addProperty("length", Math.max(0, told.getPrecision(at)));
            column.addProperty("decimals", told.getScale(at) & 0xFF);
            column.addProperty("org_table", String.join(" ",
                    told.getColumnTypeName(at), String.valueOf(told.getColumnType(at)), told.getColumnClassName(at),
                    "width " + told.getColumnDisplaySize(at), "nullable " + told.isNullable(at),
                    "signed " + told.isSigned(at), "auto_increment " + told.isAutoIncrement(at),
                    "case_sensitive " + told.isCaseSensitive(at), "read_only " + told.isReadOnly(at)));
            columns.add(column);
        }
        return columns;
    }

    private static JsonObject done(Statement statement) throws SQLException {
        JsonObject result = new JsonObject();
        result.addProperty("affected", statement.getLargeUpdateCount());
        StringBuilder keys = new StringBuilder();
        try (ResultSet set = statement.getGeneratedKeys()) {
            while (set.next()) {
                keys.append(set.getString(1)).append(' ');
            }
        }
        result.addProperty("info", "generated keys: " + keys);
        return result;
    }

    private static JsonElement cell(ResultSet set, int at) throws Exception {
        Object value;
        try {
            value = set.getObject(at);
        } catch (SQLException error) {
            return typed("unreadable", error.getMessage());
        }
        if (value == null) {
            return JsonNull.INSTANCE;
        }
        String kind = value.getClass().getSimpleName();
        if (value instanceof byte[] raw) {
            return raw.length > LONG ? digest(kind, raw) : typed(kind, HexFormat.of().formatHex(raw));
        }
        String text = value instanceof Number || value instanceof Boolean ? value.toString() : set.getString(at);
        if (text == null) {
            return typed(kind, "no text");
        }
        return text.length() > LONG ? digest(kind, text.getBytes(StandardCharsets.UTF_8)) : typed(kind, text);
    }

    private static JsonObject digest(String kind, byte[] raw) throws Exception {
        String hash = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(raw));
        return typed(kind, raw.length + " bytes, sha256 " + hash);
    }

    private static JsonObject typed(String kind, String text) {
        JsonObject cell = new JsonObject();
        cell.addProperty("kind", kind);
        cell.addProperty("text", text);
        return cell;
    }

    private static JsonObject failure(SQLException error) {
        int code = error.getErrorCode();
        JsonObject told = new JsonObject();
        told.addProperty("code", code >= 0 && code < 65536 ? code : 0);
        told.addProperty("state", error.getSQLState());
        // It names its connection by the server's id for it.
        told.addProperty("message", error.getMessage().replaceAll("\\(conn=\\d+\\)", "(conn)"));
        JsonObject result = new JsonObject();
        result.add("error", told);
        return result;
    }
}
