/** Bytes on their way from a program to containers: collected, cut, stored, and logged until they are. */
@NullMarked
package org.opendedup.sar.volume.write;

import org.jspecify.annotations.NullMarked;
