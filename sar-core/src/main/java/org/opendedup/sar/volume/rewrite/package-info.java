/** Work that replaces references of recipes: defragmentation and exact passes. */
@NullMarked
package org.opendedup.sar.volume.rewrite;

import org.jspecify.annotations.NullMarked;
