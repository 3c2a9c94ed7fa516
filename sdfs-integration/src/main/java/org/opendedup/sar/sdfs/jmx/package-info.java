/**
 * The statistics and the administration of a mounted volume. {@link org.opendedup.sar.sdfs.jmx.VolumeFigures} has the
 * statistics, for JMX and for the commands; {@link org.opendedup.sar.sdfs.jmx.VolumeRegistration} makes them visible to
 * jconsole and other JMX clients.
 *
 * <p>The volume's SSD is a {@link org.opendedup.sar.sdfs.jmx.SarSource}. Commands and JMX change its settings only
 * through {@link org.opendedup.sar.sdfs.jmx.SarAdministration}. Six MXBeans show it, named after the parts in the SAR
 * paper (§3.2). {@link org.opendedup.sar.sdfs.jmx.GarbageCollectorMXBean} shows the garbage collections,
 * {@link org.opendedup.sar.sdfs.jmx.ScrubMXBean} the scrubs.
 */
@NullMarked
package org.opendedup.sar.sdfs.jmx;

import org.jspecify.annotations.NullMarked;
