/**
 * The bundle for a bug report. {@link org.opendedup.sar.sdfs.cli.support.Placeholders} replaces names; whatever enters
 * the bundle passes through it.
 */
@NullMarked
package org.opendedup.sar.sdfs.cli.support;

import org.jspecify.annotations.NullMarked;
