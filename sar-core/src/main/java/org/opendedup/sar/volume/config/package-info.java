/**
 * The configuration of a volume: its options, its identity, and the division of its memory. Does not depend on an open
 * volume.
 */
@NullMarked
package org.opendedup.sar.volume.config;

import org.jspecify.annotations.NullMarked;
