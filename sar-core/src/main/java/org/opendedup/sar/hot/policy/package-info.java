/**
 * Decides which chunks belong on the SSD, and which rank lowest when it is full: the paper's rule by references (SAR
 * §3.4, §3.5), and one by what a copy saves. Policies do no I/O.
 */
@NullMarked
package org.opendedup.sar.hot.policy;

import org.jspecify.annotations.NullMarked;
