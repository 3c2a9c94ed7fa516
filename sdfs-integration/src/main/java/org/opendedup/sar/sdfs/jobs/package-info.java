/**
 * What all long jobs of a mounted volume have in common, such as collections of garbage and scrubs: a thread that does
 * one and can be stopped, who started it, how it ended, a bound on its rate, and a timer that starts one at the times
 * of a schedule.
 */
@NullMarked
package org.opendedup.sar.sdfs.jobs;

import org.jspecify.annotations.NullMarked;
