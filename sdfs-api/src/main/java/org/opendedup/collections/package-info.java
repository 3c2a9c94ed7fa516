/**
 * Declarations, of our own, of the types of OpenDedup SDFS 3.12 that a fingerprint index is made of: the same names and
 * signatures, and nothing else of them. The plugin is compiled and tested against them; at run time the installation of
 * SDFS has its own. They are in no jar that is shipped.
 */
package org.opendedup.collections;
