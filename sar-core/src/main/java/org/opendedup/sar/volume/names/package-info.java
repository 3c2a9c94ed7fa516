/** Names, folders and access times. */
@NullMarked
package org.opendedup.sar.volume.names;

import org.jspecify.annotations.NullMarked;
