/**
 * An object store that asks another one again when it does not answer: with pauses, within a time and a budget, and not
 * at all while a breaker is open. Divides large reads and puts into requests at the same time, and counts requests.
 */
@NullMarked
package org.opendedup.sar.objects.reliable;

import org.jspecify.annotations.NullMarked;
