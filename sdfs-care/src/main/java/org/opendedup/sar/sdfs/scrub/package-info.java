/**
 * The scrubs of a mounted volume, as its front ends see them. {@link org.opendedup.sar.sdfs.scrub.Scrubs} starts, stops
 * and reports them for sdfscli, JMX, the timer of the volume's schedule and
 * {@link org.opendedup.sar.sdfs.scrub.ScrubResumer}, which continues one that an unmount or a crash had stopped.
 */
@NullMarked
package org.opendedup.sar.sdfs.scrub;

import org.jspecify.annotations.NullMarked;
