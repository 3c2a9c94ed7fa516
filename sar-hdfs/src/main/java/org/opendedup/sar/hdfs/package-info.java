/**
 * Object stores in folders of HDFS, by Hadoop's own client. Opened by {@link org.opendedup.sar.hdfs.HdfsProvider} for
 * the scheme {@code hdfs}.
 */
@NullMarked
package org.opendedup.sar.hdfs;

import org.jspecify.annotations.NullMarked;
