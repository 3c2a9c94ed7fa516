package org.opendedup.sar.turns;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A test class that runs while no other class of this module does: it changes or observes something that the whole
 * machine shares, such as the page cache or the links in {@code /sbin}. See {@link Turns}.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface Alone {}
