/**
 * The jobs of a volume. {@link org.opendedup.sar.sdfs.jobs.Jobs} starts, shows, stops and logs those of one kind; a
 * subclass defines the kind: its work, and the words of its end. All have one status, one progress and one cause. Also
 * a bound on their rate, and timers that start them at the times of a schedule.
 */
@NullMarked
package org.opendedup.sar.sdfs.jobs;

import org.jspecify.annotations.NullMarked;
