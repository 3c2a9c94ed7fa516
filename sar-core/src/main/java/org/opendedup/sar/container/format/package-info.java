/**
 * The byte layout of a container's file: header, frames, directory and footer, their checksums, and the compression of
 * frames. {@code docs/FORMAT.md} describes the layout.
 */
@NullMarked
package org.opendedup.sar.container.format;

import org.jspecify.annotations.NullMarked;
