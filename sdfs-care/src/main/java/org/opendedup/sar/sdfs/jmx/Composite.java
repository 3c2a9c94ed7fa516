package org.opendedup.sar.sdfs.jmx;

import java.lang.reflect.RecordComponent;
import java.util.List;
import java.util.Map;
import javax.management.openmbean.ArrayType;
import javax.management.openmbean.CompositeData;
import javax.management.openmbean.CompositeDataSupport;
import javax.management.openmbean.CompositeType;
import javax.management.openmbean.OpenDataException;
import javax.management.openmbean.OpenType;
import javax.management.openmbean.SimpleType;
import org.opendedup.sar.common.Figure;

/** A record of figures as one value of JMX, which consoles show as a table of names and values. */
final class Composite {
    private static final Map<Class<?>, OpenType<?>> TYPES = Map.of(
            String.class, SimpleType.STRING,
            int.class, SimpleType.INTEGER,
            long.class, SimpleType.LONG,
            double.class, SimpleType.DOUBLE,
            boolean.class, SimpleType.BOOLEAN,
            long[].class, ArrayType.getPrimitiveArrayType(long[].class));

    private Composite() {}

    /** Returns records of the same type, as {@link #of}. */
    static CompositeData[] all(String name, String description, List<? extends Record> records) {
        return records.stream().map(record -> of(name, description, record)).toArray(CompositeData[]::new);
    }

    /**
     * Returns a record whose components are texts, numbers, booleans and arrays of {@code long}.
     *
     * @param name of the type in JMX
     */
    static CompositeData of(String name, String description, Record record) {
        RecordComponent[] components = record.getClass().getRecordComponents();
        String[] names = new String[components.length];
        String[] texts = new String[components.length];
        OpenType<?>[] types = new OpenType<?>[components.length];
        Object[] values = new Object[components.length];
        for (int i = 0; i < components.length; i++) {
            Figure figure = components[i].getAnnotation(Figure.class);
            names[i] = components[i].getName();
            texts[i] = figure.value() + " (" + figure.unit() + ")";
            types[i] = TYPES.get(components[i].getType());
            values[i] = RecordBean.value(components[i], record);
        }
        try {
            return new CompositeDataSupport(new CompositeType(name, description, names, texts, types), names, values);
        } catch (OpenDataException e) {
            throw new IllegalStateException(record + " cannot be shown", e);
        }
    }
}
