package org.opendedup.sar.sdfs.jmx;

import java.util.Objects;
import javax.management.MBeanAttributeInfo;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Figure;

/** A setting that can be changed while the volume is mounted, and what is allowed: an element of {@code Parameters}. */
record SettingFigures(
        @Figure(value = "Type of the bean that has it", unit = "name")
        String bean,

        @Figure(value = "Name of the attribute", unit = "name")
        String name,

        @Figure(value = "Its Java type", unit = "name") String type,

        @Figure(value = "Its value", unit = "text") String value,

        @Figure(value = "What it means", unit = "text") String text,

        @Figure(value = "Unit of the value", unit = "text") String unit,

        @Figure(value = "Least allowed number; empty if it is no number", unit = "text")
        String least,

        @Figure(value = "Greatest allowed number; empty if it is no number", unit = "text")
        String most,

        @Figure(value = "Allowed values, separated by commas; empty if others are allowed", unit = "text")
        String choices) {
    /** @param text what it means, without the unit */
    static SettingFigures of(String bean, MBeanAttributeInfo info, String text, @Nullable Object value) {
        String unit = field(info, "units");
        return new SettingFigures(
                bean,
                info.getName(),
                info.getType(),
                String.valueOf(value),
                text,
                unit,
                field(info, "minValue"),
                field(info, "maxValue"),
                info.getDescriptor().getFieldValue("legalValues") instanceof String[] legal
                        ? String.join(",", legal)
                        : "");
    }

    private static String field(MBeanAttributeInfo info, String name) {
        return Objects.toString(info.getDescriptor().getFieldValue(name), "");
    }
}
