/**
 * The figures and the administration of a mounted volume. Records such as
 * {@link org.opendedup.sar.sdfs.jmx.VolumeFigures} declare each figure once: its name, its unit and what it means.
 * Commands show them as JSON and as text, and {@link org.opendedup.sar.sdfs.jmx.RecordBean} in JMX.
 *
 * <p>The volume's SSD is a {@link org.opendedup.sar.sdfs.jmx.SarSource}. Commands and JMX change its settings only
 * through {@link org.opendedup.sar.sdfs.jmx.SarAdministration}. {@link org.opendedup.sar.sdfs.jmx.SarBeans} shows it,
 * in six beans named after the parts in the SAR paper (§3.2), {@link org.opendedup.sar.sdfs.jmx.JobBeans} shows the
 * jobs, {@link org.opendedup.sar.sdfs.jmx.FileBeans} files and their readers, and
 * {@link org.opendedup.sar.sdfs.jmx.History} the course of a day.
 */
@NullMarked
package org.opendedup.sar.sdfs.jmx;

import org.jspecify.annotations.NullMarked;
