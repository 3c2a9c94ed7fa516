/**
 * The side of the plugin that is loaded with the engine: {@link org.opendedup.sar.plugin.PluginEngine} on a volume of
 * chunks.
 */
@NullMarked
package org.opendedup.sar.plugin.engine;

import org.jspecify.annotations.NullMarked;
