/**
 * An SSD that is believed: for the controls of tests of wrong bytes. In the package of the store, whose door for it is
 * no public one.
 */
package org.opendedup.sar.ssd;
