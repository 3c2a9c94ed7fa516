package org.opendedup.sar.common;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A figure that users see: a component of a record of statistics. This is the only place that says what it means. JSON
 * has it under the component's name, JMX under the same name with a capital letter, Prometheus in its own spelling.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface Figure {
    /**
     * What it is, as consoles show it. For a component that is itself a record of figures: what these are about, which
     * takes the place of {@code %s} in theirs; JMX puts the component's name before theirs.
     */
    String value();

    /** The unit of the value; empty for a record of figures. */
    String unit() default "";

    /** Whether it only grows while the process runs. Prometheus treats such a figure as a counter. */
    boolean counter() default false;

    /** Another name in JMX, with a capital letter; empty: the component's. */
    String name() default "";
}
