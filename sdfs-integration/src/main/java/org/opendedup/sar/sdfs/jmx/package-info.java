/**
 * A mounted volume's figures: {@link org.opendedup.sar.sdfs.jmx.VolumeMXBean} names them once, for JMX and for the commands;
 * {@link org.opendedup.sar.sdfs.jmx.VolumeMonitor} takes them from the engine; {@link
 * org.opendedup.sar.sdfs.jmx.VolumeRegistration} shows them to jconsole and other JMX clients.
 *
 * <p>The volume's SSD is a {@link org.opendedup.sar.sdfs.jmx.SarSource}; {@link org.opendedup.sar.sdfs.jmx.SarAdministration} is
 * the one way on which commands and JMX change anything of it. Six MXBeans show it, named as the parts of the SAR paper are
 * (§3.2).
 */
@NullMarked
package org.opendedup.sar.sdfs.jmx;

import org.jspecify.annotations.NullMarked;
