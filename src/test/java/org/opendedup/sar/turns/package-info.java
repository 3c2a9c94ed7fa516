/** Which test classes of this module run beside others. */
package org.opendedup.sar.turns;
