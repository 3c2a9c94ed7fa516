/**
 * How OpenDedup SDFS 3.12 spells the arguments of its commands: translated to ours, left out with a note, or refused
 * with what to do instead. Values are never repeated in a message: some are passwords and keys.
 */
@NullMarked
package org.opendedup.sar.sdfs.cli.upstream;

import org.jspecify.annotations.NullMarked;
