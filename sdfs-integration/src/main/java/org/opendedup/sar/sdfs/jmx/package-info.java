/**
 * A mounted volume's figures: {@link org.opendedup.sar.sdfs.jmx.VolumeMXBean} names them once, for JMX and for the commands;
 * {@link org.opendedup.sar.sdfs.jmx.VolumeMonitor} takes them from the engine; {@link
 * org.opendedup.sar.sdfs.jmx.VolumeRegistration} shows them to jconsole and other JMX clients.
 */
@NullMarked
package org.opendedup.sar.sdfs.jmx;

import org.jspecify.annotations.NullMarked;
