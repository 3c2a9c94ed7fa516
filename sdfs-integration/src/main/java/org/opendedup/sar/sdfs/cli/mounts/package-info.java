/**
 * Mount points and volume folders ahead of a mount: whether and by whom they may be used, and what a dead mount has
 * left.
 */
@NullMarked
package org.opendedup.sar.sdfs.cli.mounts;

import org.jspecify.annotations.NullMarked;
