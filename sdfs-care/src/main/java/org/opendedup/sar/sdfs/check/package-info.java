/** The checks of a volume in use that are asked for, through sdfscli or JMX. */
@NullMarked
package org.opendedup.sar.sdfs.check;

import org.jspecify.annotations.NullMarked;
