/**
 * Reports of simulations: one self-contained HTML page with charts and tables, and in the same folder the raw rows as
 * JSON and CSV and each chart as SVG. The same rows give the same bytes on any machine: without times, names of
 * machines, or fonts.
 *
 * <p>A command describes its {@link org.opendedup.sar.sim.report.Report}: {@link org.opendedup.sar.sim.report.Section}s
 * of {@link org.opendedup.sar.sim.report.Chart}s, and {@link org.opendedup.sar.sim.report.Table}s of its rows.
 * {@link org.opendedup.sar.sim.report.ReportFolder} writes it.
 */
@NullMarked
package org.opendedup.sar.sim.report;

import org.jspecify.annotations.NullMarked;
