/**
 * The stream of a snapshot: what changed since another one, or all of it, as bytes that a pipe or a file carries
 * (docs/FORMAT.md, docs/adr/0121). A {@link org.opendedup.sar.volume.stream.StreamWriter} writes
 * {@link org.opendedup.sar.volume.stream.StreamMessage messages}, and a
 * {@link org.opendedup.sar.volume.stream.StreamReader} reads them. This room has the format alone: it knows neither who
 * sends nor who receives.
 */
@NullMarked
package org.opendedup.sar.volume.stream;

import org.jspecify.annotations.NullMarked;
