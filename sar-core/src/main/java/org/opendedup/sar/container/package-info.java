/**
 * The containers: files of about four MiB of compressed frames each, sealed once and never changed, one of the volume's
 * two sources of truth. {@link org.opendedup.sar.container.ContainerStore} appends and reads; {@code docs/FORMAT.md}
 * describes the layout of a file.
 */
@NullMarked
package org.opendedup.sar.container;

import org.jspecify.annotations.NullMarked;
