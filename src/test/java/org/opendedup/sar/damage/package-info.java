/**
 * Random damage to every kind of file of a closed volume. {@link org.opendedup.sar.damage.SampleVolume} makes the
 * volume, {@link org.opendedup.sar.damage.Part} knows the kinds of files, {@link org.opendedup.sar.damage.Harm} does
 * the damage, and {@link org.opendedup.sar.damage.DamageTrial} uses the damaged volume and finds wrong answers. Other
 * tests read the disks of an encrypted volume, or change any bytes of them, as an attacker does.
 */
package org.opendedup.sar.damage;
