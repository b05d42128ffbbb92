/** A job that checks itself while parts of its cluster are killed. */
package org.lavakv.kills;
