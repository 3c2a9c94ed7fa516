/**
 * The daemon's log. {@link org.opendedup.sar.sdfs.log.RepeatsAppender} limits the number of lines.
 * {@link org.opendedup.sar.sdfs.log.LogFileAppender} limits the bytes, and writes to a second place if the first fails.
 * The {@code logback-*.xml} files configure both.
 */
@NullMarked
package org.opendedup.sar.sdfs.log;

import org.jspecify.annotations.NullMarked;
