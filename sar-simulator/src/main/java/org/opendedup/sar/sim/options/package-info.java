/** Options that several commands share, as picocli mixins. */
@NullMarked
package org.opendedup.sar.sim.options;

import org.jspecify.annotations.NullMarked;
