package org.opendedup.sar.sdfs.jmx;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import javax.management.DescriptorKey;

/** The allowed values of a text: the descriptor field {@code legalValues}. Public, because JMX itself reads it. */
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.PARAMETER})
public @interface LegalValues {
    @DescriptorKey("legalValues")
    String[] value();
}
