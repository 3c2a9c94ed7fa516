package org.opendedup.sar.container;

/**
 * Where an open container lies.
 *
 * @param pack number of the pack
 * @param offset first byte of the container in the pack
 */
record PackPlace(long pack, long offset) {}
