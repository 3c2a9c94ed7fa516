/**
 * The containers: about four MiB of compressed frames each, sealed once and never changed, one of the volume's two
 * truths. {@link org.opendedup.sar.container.ContainerStore} appends and reads; the layout of a file is in {@code
 * docs/FORMAT.md}.
 */
@NullMarked
package org.opendedup.sar.container;

import org.jspecify.annotations.NullMarked;
