/** A volume of chunks without files, whose client keeps the references: OpenDedup SDFS with the plugin. */
@NullMarked
package org.opendedup.sar.volume.chunks;

import org.jspecify.annotations.NullMarked;
