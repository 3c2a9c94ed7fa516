/**
 * The garbage collections of a mounted volume, as its front ends see them.
 * {@link org.opendedup.sar.sdfs.collect.GarbageCollections} starts, stops and reports them for sdfscli, JMX and the
 * timer of the volume's schedule.
 */
@NullMarked
package org.opendedup.sar.sdfs.collect;

import org.jspecify.annotations.NullMarked;
