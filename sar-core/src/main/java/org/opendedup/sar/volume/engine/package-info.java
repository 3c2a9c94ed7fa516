/**
 * The stores of a mounted volume and what keeps them: containers, fingerprint index, epochs, the collector's access.
 */
@NullMarked
package org.opendedup.sar.volume.engine;

import org.jspecify.annotations.NullMarked;
