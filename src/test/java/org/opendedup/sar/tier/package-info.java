/**
 * A tier that believes its SSD: for the controls of tests of wrong bytes. In the package of the tier, whose door for it
 * is no public one.
 */
package org.opendedup.sar.tier;
