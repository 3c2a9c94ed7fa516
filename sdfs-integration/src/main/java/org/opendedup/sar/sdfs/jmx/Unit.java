package org.opendedup.sar.sdfs.jmx;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import javax.management.DescriptorKey;

/**
 * The unit of an attribute, a result or a parameter: the descriptor field {@code units}. Public, because JMX itself
 * reads it.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.PARAMETER})
public @interface Unit {
    @DescriptorKey("units")
    String value();
}
