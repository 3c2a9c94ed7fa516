package org.opendedup.sar.mounted;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * A test class that runs while no other class of this module does: it changes or observes something that the whole
 * machine shares, such as the page cache or the links in {@code /sbin}. Surefire runs all these after the others, in
 * one process.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@Tag("alone")
@interface Alone {}
