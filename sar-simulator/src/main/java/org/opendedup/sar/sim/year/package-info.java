/**
 * {@code sar-sim year}: plays daily backups on a real volume, to see how its size and the speed of restores develop
 * while old backups are removed and garbage is collected. {@link org.opendedup.sar.sim.year.CarriedOnSeries} makes the
 * backups from a trace, {@link org.opendedup.sar.sim.year.BackupStore} keeps them in a volume, and
 * {@link org.opendedup.sar.sim.year.YearRun} plays the days.
 */
@NullMarked
package org.opendedup.sar.sim.year;

import org.jspecify.annotations.NullMarked;
