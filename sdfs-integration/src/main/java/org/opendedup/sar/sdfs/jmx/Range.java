package org.opendedup.sar.sdfs.jmx;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import javax.management.DescriptorKey;

/**
 * The allowed range of a number: the descriptor fields {@code minValue} and {@code maxValue}, as text.
 * {@code OpenMBeanAttributeInfoSupport} converts them to numbers of the attribute's type. The setter refuses a value
 * outside the range, with the range in the message. Public, because JMX itself reads it.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.PARAMETER})
public @interface Range {
    /** The smallest allowed value, in decimal digits. */
    @DescriptorKey("minValue")
    String min();

    /** The largest allowed value, in decimal digits. */
    @DescriptorKey("maxValue")
    String max();
}
