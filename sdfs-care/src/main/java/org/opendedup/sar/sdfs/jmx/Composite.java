package org.opendedup.sar.sdfs.jmx;

import java.lang.reflect.RecordComponent;
import java.util.Map;
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
            boolean.class, SimpleType.BOOLEAN);

    private Composite() {}

    /**
     * Returns a record whose components are texts, whole numbers and booleans.
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
