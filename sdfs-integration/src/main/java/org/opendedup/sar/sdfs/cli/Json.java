package org.opendedup.sar.sdfs.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.opendedup.sar.sdfs.jmx.VolumeMXBean;

/** JSON objects as maps that keep their order. */
final class Json {
    private static final ObjectMapper MAPPER =
            new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
    private static final TypeReference<LinkedHashMap<String, Object>> OBJECT = new TypeReference<>() {};

    private Json() {}

    /** On one line. */
    static String line(Map<String, ?> object) {
        return write(object, false);
    }

    /** Indented, for reading. */
    static String pretty(Map<String, ?> object) {
        return write(object, true);
    }

    private static String write(Map<String, ?> object, boolean pretty) {
        try {
            return (pretty ? MAPPER.writerWithDefaultPrettyPrinter() : MAPPER.writer()).writeValueAsString(object);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("holds a value that JSON cannot say", e);
        }
    }

    /** The values of a volume, under the names and in the order of {@link VolumeMXBean}. */
    static Map<String, Object> values(VolumeMXBean volume) {
        return MAPPER.convertValue(volume, OBJECT);
    }

    /** The object of that name in another; empty if there is none. */
    @SuppressWarnings("unchecked")
    static Map<String, Object> object(Map<String, Object> within, String name) {
        return within.get(name) instanceof Map<?, ?> object ? (Map<String, Object>) object : Map.of();
    }

    /** The list of objects of that name; empty if there is none. */
    @SuppressWarnings("unchecked")
    static List<Map<String, Object>> objects(Map<String, Object> within, String name) {
        return within.get(name) instanceof List<?> objects ? (List<Map<String, Object>>) objects : List.of();
    }

    /** The whole number of that name; 0 if there is none. */
    static long number(Map<String, Object> within, String name) {
        return within.get(name) instanceof Number number ? number.longValue() : 0;
    }

    /** The number of that name; 0 if there is none. */
    static double decimal(Map<String, Object> within, String name) {
        return within.get(name) instanceof Number number ? number.doubleValue() : 0;
    }

    /** @throws IOException if the text is not one JSON object */
    static Map<String, Object> read(String text) throws IOException {
        Map<String, Object> object = MAPPER.readValue(text, OBJECT);
        if (object == null) {
            throw new IOException("null where a JSON object should stand");
        }
        return object;
    }
}
