package org.opendedup.sar.sdfs.cli.report;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.MapperConfig;
import com.fasterxml.jackson.databind.introspect.AnnotatedClass;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Reads and writes JSON: records under the names of their components, and objects as maps that keep their order. An
 * enum is a word in lower case, with dashes.
 */
public final class Json {
    private static final ObjectMapper MAPPER = new ObjectMapper()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET)
            .setAnnotationIntrospector(new Words());
    private static final ObjectMapper LENIENT =
            MAPPER.copy().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);
    private static final TypeReference<LinkedHashMap<String, Object>> OBJECT = new TypeReference<>() {};

    private Json() {}

    private static final class Words extends JacksonAnnotationIntrospector {
        private static final long serialVersionUID = 1L;

        @Override
        public String[] findEnumValues(MapperConfig<?> config, AnnotatedClass type, Enum<?>[] values, String[] names) {
            Arrays.setAll(names, i -> word(values[i]));
            return names;
        }
    }

    /** Returns the word for an enum. */
    public static String word(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Returns a record or a map on one line. */
    public static String line(Object object) {
        return write(object, false);
    }

    /** Returns a record or a map indented, for people. */
    public static String pretty(Object object) {
        return write(object, true);
    }

    private static String write(Object object, boolean pretty) {
        try {
            return (pretty ? MAPPER.writerWithDefaultPrettyPrinter() : MAPPER.writer()).writeValueAsString(object);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("holds a value that JSON cannot represent", e);
        }
    }

    /** Writes a record or a map on one line, which is never whole in memory. */
    public static void write(OutputStream out, Object object) throws IOException {
        MAPPER.writeValue(out, object);
    }

    /** Returns the components of a record under their names. */
    public static Map<String, Object> values(Record record) {
        return MAPPER.convertValue(record, OBJECT);
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
