/**
 * The stores of a volume at their places, the devices that hold them, and the space there: what is admitted, what is
 * reserved, and what is freed when a device is full (docs/adr/0014).
 */
@NullMarked
package org.opendedup.sar.volume.store;

import org.jspecify.annotations.NullMarked;
