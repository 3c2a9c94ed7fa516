package org.opendedup.sar.sdfs.cli.report;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads and writes JSON objects as maps that keep their order. */
public final class Json {
    private static final ObjectMapper MAPPER =
            new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
    private static final ObjectMapper LENIENT =
            new ObjectMapper().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);
    private static final TypeReference<LinkedHashMap<String, Object>> OBJECT = new TypeReference<>() {};

    private Json() {}

    /** Returns the object on one line. */
    public static String line(Map<String, ?> object) {
        return write(object, false);
    }

    /** Returns the object indented, for people. */
    public static String pretty(Map<String, ?> object) {
        return write(object, true);
    }

    private static String write(Map<String, ?> object, boolean pretty) {
        try {
            return (pretty ? MAPPER.writerWithDefaultPrettyPrinter() : MAPPER.writer()).writeValueAsString(object);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("holds a value that JSON cannot represent", e);
        }
    }

    /** Returns the components of a record under their names; one named isComplete is "complete". */
    public static Map<String, Object> values(Record record) {
        var values = new LinkedHashMap<String, Object>();
        MAPPER.convertValue(record, OBJECT)
                .forEach((name, value) -> values.put(name.equals("isComplete") ? "complete" : name, value));
        return values;
    }

    /** Returns the record whose components an object has under their names; what else it has is ignored. */
    public static <T extends Record> T record(Map<String, Object> values, Class<T> type) {
        return LENIENT.convertValue(values, type);
    }

    /** Returns the object with that name inside another; empty if there is none. */
    @SuppressWarnings("unchecked")
    public static Map<String, Object> object(Map<String, Object> within, String name) {
        return within.get(name) instanceof Map<?, ?> object ? (Map<String, Object>) object : Map.of();
    }

    /** Returns the list of objects with that name; empty if there is none. */
    @SuppressWarnings("unchecked")
    public static List<Map<String, Object>> objects(Map<String, Object> within, String name) {
        return within.get(name) instanceof List<?> objects ? (List<Map<String, Object>>) objects : List.of();
    }

    /** Returns the whole number with that name; 0 if there is none. */
    public static long number(Map<String, Object> within, String name) {
        return within.get(name) instanceof Number number ? number.longValue() : 0;
    }

    /** Returns the number with that name; 0 if there is none. */
    public static double decimal(Map<String, Object> within, String name) {
        return within.get(name) instanceof Number number ? number.doubleValue() : 0;
    }

    /** @throws IOException if the text is not one JSON object */
    public static Map<String, Object> read(String text) throws IOException {
        Map<String, Object> object = MAPPER.readValue(text, OBJECT);
        if (object == null) {
            throw new IOException("null in place of a JSON object");
        }
        return object;
    }
}
