/**
 * The plugin for OpenDedup SDFS 3.12: the two classes that SDFS loads by name, what they say to the engine, and the
 * class loader that keeps the engine's libraries apart from those of SDFS.
 */
@NullMarked
package org.opendedup.sar.plugin;

import org.jspecify.annotations.NullMarked;
