package org.opendedup.sar.sim.report;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Rows of one kind. JSON and CSV are made from the same values, so that they have the same numbers.
 *
 * @param name name of its files, without an extension
 * @param rows flat: values are numbers, texts, truth values or nothing
 */
public record Table(String name, List<ObjectNode> rows) {
    private static final ObjectMapper JSON = new ObjectMapper();

    public Table {
        rows = List.copyOf(rows);
        for (ObjectNode row : rows) {
            for (JsonNode value : row) {
                if (value.isContainerNode()) {
                    throw new IllegalArgumentException(name + ".csv has no place for " + value);
                }
            }
        }
    }

    /** Makes a table of records; their components are its columns. */
    public static Table of(String name, List<?> records) {
        return new Table(
                name,
                records.stream().map(each -> JSON.<ObjectNode>valueToTree(each)).toList());
    }

    /** Returns the columns, in the order in which rows name them. */
    List<String> columns() {
        Set<String> columns = new LinkedHashSet<>();
        rows.forEach(row -> row.fieldNames().forEachRemaining(columns::add));
        return new ArrayList<>(columns);
    }

    /** Returns an array of objects. */
    String json() {
        try {
            return JSON.writerWithDefaultPrettyPrinter().writeValueAsString(rows) + "\n";
        } catch (JsonProcessingException e) {
            throw new AssertionError("a tree can always be written", e);
        }
    }

    /** Returns a header line and one line a row, as in RFC 4180 with LF. */
    String csv() {
        List<String> columns = columns();
        StringBuilder text = new StringBuilder(String.join(",", columns)).append('\n');
        for (ObjectNode row : rows) {
            text.append(columns.stream().map(column -> field(row.path(column))).collect(Collectors.joining(",")))
                    .append('\n');
        }
        return text.toString();
    }

    private static String field(JsonNode value) {
        String text = value.isNull() ? "" : value.asText();
        return text.matches("[^,\"\\n\\r]*") ? text : '"' + text.replace("\"", "\"\"") + '"';
    }

    /** Returns the text of a cell: numbers are shortened. */
    static String shown(JsonNode value) {
        if (value.isNull() || value.isMissingNode()) {
            return "–";
        }
        return value.isNumber() ? Numbers.text(value.asDouble()) : value.asText();
    }

    /** Returns whether all existing values of a column are numbers. */
    boolean isNumeric(String column) {
        return rows.stream()
                .map(row -> row.path(column))
                .allMatch(value -> value.isNumber() || value.isNull() || value.isMissingNode());
    }
}
