/** Answers of commands as records, for JSON, and as text. */
@NullMarked
package org.opendedup.sar.sdfs.cli.report;

import org.jspecify.annotations.NullMarked;
